"""Tables, figures and pages: functions of result rows."""
