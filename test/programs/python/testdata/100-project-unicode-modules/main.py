"""Modules, functions and files with names beyond ASCII."""
from größe import Länge
from 数学 import 阶乘, 和

strecke = Länge(5, "km") + Länge(250, "m")
print(strecke, "=", strecke.in_einheit("m"))
print("阶乘(20) =", 阶乘(20), "和 =", 和(range(101)))

π = 3.14159
Δx = 0.5
print(f"{π=} {Δx=} {π * Δx ** 2:.4f}")
with open("結果🦀.txt", "w", encoding="utf-8") as ausgabe:
    ausgabe.write(f"héllo 你好 🦀: {strecke}\n")
with open("結果🦀.txt", encoding="utf-8") as eingabe:
    print(eingabe.read().strip())
print([name for name in dir(Länge) if not name.isascii()], Länge.__name__)
try:
    Länge(1, "Zoll")
except ValueError as fehler:
    print("Fehler:", fehler)
