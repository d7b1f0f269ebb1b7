package größe;

public enum Einheit {
    METER("m", 1), KILOMETER("km", 1000), ÅNGSTRÖM("Å", 1e-10);

    final String kürzel;
    final double faktor;

    Einheit(String kürzel, double faktor) {
        this.kürzel = kürzel;
        this.faktor = faktor;
    }
}
