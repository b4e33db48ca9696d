mod golden_text;
