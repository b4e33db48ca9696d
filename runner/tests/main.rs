mod bad_specs;
