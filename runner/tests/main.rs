//! Tests from outside: what a user of the library and of the program sees.

mod bad_specs;
