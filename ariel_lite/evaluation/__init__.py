"""Measuring ariel-lite: speed beside a floor (`bench`) on a synthetic logbook. Nothing else imports this folder."""
