"""The browser page: one module per screen. Routes translate, builders turn facts into views, templates show them."""
