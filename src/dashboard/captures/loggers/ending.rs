//! Loggers that will not record much longer: payloads that are still waiting would wait for nothing.
