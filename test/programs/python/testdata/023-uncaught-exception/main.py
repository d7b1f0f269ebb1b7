"""Works through its list until an exception nobody catches ends it."""


class ConfigurationError(Exception):
    pass


def port(settings):
    value = settings["port"]
    if not 0 < value < 65536:
        raise ConfigurationError(f"port {value} is out of range for „{settings['name']}“")
    return value


for settings in ({"name": "web", "port": 8080}, {"name": "größer", "port": 70000}, {"name": "never", "port": 1}):
    print(settings["name"], "listens on", port(settings))
