"""For those who write tests against a logbook: a pytest plug-in; its fixtures are in `ariel_lite.testing.plugin`."""
