package org.example.testing;

import java.util.Objects;

public final class Assert {
    private Assert() {}

    public static void equal(Object expected, Object actual) {
        if (!Objects.equals(expected, actual)) throw new AssertionError("expected " + expected + " but was " + actual);
    }
}
