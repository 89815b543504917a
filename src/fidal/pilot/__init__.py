"""The pilot: before a federation starts, which gate fits its pools? (Section 5.2; docs/pilot.md)"""
