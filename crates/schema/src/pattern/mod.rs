//! Patterns: our own parser and tree of ECMA-262 regular expressions with the `u` flag, and the narrower language of
//! profile `portable`; what is regular is matched in linear time.
