"""One file an adapter, found by its name; each exports `create_adapter(options)` and `source_system_name`."""
