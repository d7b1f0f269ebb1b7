package größe;

public record Länge(double wert, Einheit einheit) implements Comparable<Länge> {
    public Länge plus(Länge andere) { return new Länge(meter() + andere.meter(), Einheit.METER); }

    public double meter() { return wert * einheit.faktor; }

    @Override public int compareTo(Länge andere) { return Double.compare(meter(), andere.meter()); }

    @Override public String toString() { return wert + " " + einheit.kürzel; }
}
