class Länge:
    EINHEITEN = {"m": 1, "km": 1000, "cm": 0.01}

    def __init__(self, zahl, einheit):
        if einheit not in self.EINHEITEN:
            raise ValueError(f"unbekannte Einheit „{einheit}“")
        self.meter = zahl * self.EINHEITEN[einheit]

    def in_einheit(self, einheit):
        return f"{self.meter / self.EINHEITEN[einheit]:g} {einheit}"

    def überall(self):
        return [self.in_einheit(einheit) for einheit in self.EINHEITEN]

    def __add__(self, andere):
        return Länge(self.meter + andere.meter, "m")

    def __str__(self):
        return self.in_einheit("km")
