package org.example.tests;

import static org.example.testing.Assert.equal;

import org.example.testing.Test;

public class TextTest {
    @Test void counts() { equal(10, (int) "héllo 你好 🦀".codePoints().count()); }

    @Test void wrongOnPurpose() { equal("GROSS", "groß".toUpperCase(java.util.Locale.ROOT).replace("SS", "ß")); }
}
