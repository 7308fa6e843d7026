"""numba's settings in the current folder: a file that numba reads on import and before each compilation.

Nothing else is imported here, because `ravenlab` imports this module first.
"""

import os
import sys
import warnings

SETTINGS_FILE = ".numba_config.yaml"

PRIVATE = ("numba.core.config._config_fname",)


def ignore_settings_file() -> None:
    """Import numba without the settings in the current folder, unless Python imports modules from this folder too.

    They name files that numba overwrites, and numba does not start if they are invalid. Environment variables have the
    same settings. numba reads the file only if it can import PyYAML.
    """
    if not os.path.exists(SETTINGS_FILE) or "numba" in sys.modules or _is_import_path(os.getcwd()):
        return
    known = {name: sys.modules[name] for name in ("yaml",) if name in sys.modules}
    sys.modules["yaml"] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings(action="ignore"):  # that PyYAML is missing
            from numba.core import config
    finally:
        del sys.modules["yaml"]
        sys.modules.update(known)
    config._config_fname = ""


def _is_import_path(folder: str) -> bool:
    return any(os.path.realpath(place) == os.path.realpath(folder) for place in sys.path)
