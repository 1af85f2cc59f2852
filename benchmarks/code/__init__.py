"""How far a reader walks through the code: functions, files and hops of one fit."""
