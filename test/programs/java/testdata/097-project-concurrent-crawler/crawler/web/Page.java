package crawler.web;

import java.util.List;

public record Page(String title, List<String> links) {}
