"""Private parts of other libraries, one module per library; no other module uses any.

`PRIVATE` of a module lists them. A release of a library may change them without notice, so pyproject.toml excludes the
next major version, a test looks each of them up, and a module does without them where it can.
"""
