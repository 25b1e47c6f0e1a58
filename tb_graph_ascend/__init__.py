"""The TensorBoard plugin: finds graph files below the log directory, serves them, keeps manual matches."""
