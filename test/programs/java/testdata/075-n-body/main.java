import java.util.*;

/** Planets by leapfrog steps: energy is kept. */
public class NBody {
    static final class Body {
        final String name;
        final double mass;
        final double[] p, v, a = new double[3];
        Body(String name, double mass, double[] p, double[] v) {
            this.name = name;
            this.mass = mass * 4 * Math.PI * Math.PI;
            this.p = p;
            this.v = Arrays.stream(v).map(x -> x * 365.24).toArray();
        }
    }

    static double energy(List<Body> bodies) {
        double sum = 0;
        for (int i = 0; i < bodies.size(); i++) {
            Body a = bodies.get(i);
            sum += a.mass * Arrays.stream(a.v).map(x -> x * x).sum() / 2;
            for (Body b : bodies.subList(i + 1, bodies.size())) sum -= a.mass * b.mass / distance(a, b);
        }
        return sum;
    }

    static double distance(Body a, Body b) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += (a.p[k] - b.p[k]) * (a.p[k] - b.p[k]);
        return Math.sqrt(sum);
    }

    static void accelerate(List<Body> bodies) {
        for (Body a : bodies) Arrays.fill(a.a, 0);
        for (Body a : bodies) for (Body b : bodies) {
            if (a == b) continue;
            double d = distance(a, b), f = b.mass / (d * d * d);
            for (int k = 0; k < 3; k++) a.a[k] -= (a.p[k] - b.p[k]) * f;
        }
    }

    public static void main(String[] args) {
        var bodies = List.of(
            new Body("sun ☉", 1, new double[3], new double[3]),
            new Body("jupiter ♃", 9.55e-4, new double[] {4.841, -1.160, -0.1036}, new double[] {1.660e-3, 7.699e-3, -6.905e-5}),
            new Body("saturn ♄", 2.859e-4, new double[] {8.343, 4.125, -0.4035}, new double[] {-2.767e-3, 4.999e-3, 2.304e-5}));
        double start = energy(bodies), dt = 0.005;
        accelerate(bodies);
        for (int step = 0; step <= 24_000; step++) {
            if (step % 6000 == 0) {
                var line = new StringJoiner(", ", String.format(Locale.ROOT, "%5.1f years: ", step * dt), "");
                for (Body b : bodies.subList(1, 3)) line.add(String.format(Locale.ROOT, "%s %.2f", b.name, distance(bodies.get(0), b)));
                System.out.println(line);
            }
            for (Body b : bodies) for (int k = 0; k < 3; k++) {
                b.v[k] += b.a[k] * dt / 2;
                b.p[k] += b.v[k] * dt;
            }
            accelerate(bodies);
            for (Body b : bodies) for (int k = 0; k < 3; k++) b.v[k] += b.a[k] * dt / 2;
        }
        System.out.println("energy kept to a hundred-thousandth: " + (Math.abs(energy(bodies) / start - 1) < 1e-5));
    }
}
