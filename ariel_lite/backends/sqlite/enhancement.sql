-- Which entries a module is done with or failed on: `enhancement_status` in a form that counts quickly. Triggers keep it,
-- so that it is right whoever writes that column. What is not here is pending.

CREATE TABLE enhancement_state (
    module TEXT NOT NULL,
    status TEXT NOT NULL,
    row_id INTEGER NOT NULL,
    PRIMARY KEY (module, status, row_id)
) WITHOUT ROWID;

CREATE TABLE enhancement_claims (
    module TEXT NOT NULL,
    row_id INTEGER NOT NULL,
    worker TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    PRIMARY KEY (module, row_id)
) WITHOUT ROWID;

CREATE VIEW noted_enhancements AS
    SELECT noted.key AS module, json_extract(noted.value, '$.status') AS status, entry.row_id AS row_id
    FROM enhanced_entries AS entry,
        json_each(CASE WHEN json_valid(entry.enhancement_status) THEN entry.enhancement_status ELSE '{}' END) AS noted
    WHERE CASE WHEN noted.type = 'object' THEN json_extract(noted.value, '$.status') IN ('complete', 'failed') END;

CREATE TRIGGER enhancement_noted AFTER INSERT ON enhanced_entries WHEN NEW.enhancement_status <> '{}'
    BEGIN INSERT INTO enhancement_state SELECT DISTINCT * FROM noted_enhancements WHERE row_id = NEW.row_id; END;
CREATE TRIGGER enhancement_renoted AFTER UPDATE OF enhancement_status ON enhanced_entries
    WHEN NEW.enhancement_status IS NOT OLD.enhancement_status
    BEGIN DELETE FROM enhancement_state WHERE row_id = OLD.row_id AND status IN ('complete', 'failed') AND module IN (SELECT key FROM json_each(CASE WHEN json_valid(OLD.enhancement_status) THEN OLD.enhancement_status ELSE '{}' END)); INSERT INTO enhancement_state SELECT DISTINCT * FROM noted_enhancements WHERE row_id = NEW.row_id; END;
CREATE TRIGGER enhancement_gone AFTER DELETE ON enhanced_entries WHEN OLD.enhancement_status <> '{}'
    BEGIN DELETE FROM enhancement_state WHERE row_id = OLD.row_id AND status IN ('complete', 'failed') AND module IN (SELECT key FROM json_each(CASE WHEN json_valid(OLD.enhancement_status) THEN OLD.enhancement_status ELSE '{}' END)); END;
