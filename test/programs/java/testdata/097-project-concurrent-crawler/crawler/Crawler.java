package crawler;

import crawler.web.FakeWeb;
import crawler.web.Page;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

/** Walks a made-up web with a pool, visits each page once, ranks by links. */
public class Crawler {
    private final FakeWeb web = new FakeWeb();
    private final Map<String, Page> seen = new ConcurrentSkipListMap<>();
    private final Set<String> broken = new ConcurrentSkipListSet<>();
    private final Set<String> claimed = ConcurrentHashMap.newKeySet();
    private final ExecutorService pool = Executors.newFixedThreadPool(4);
    private final AtomicInteger open = new AtomicInteger();
    private final CountDownLatch done = new CountDownLatch(1);

    void visit(String url) {
        if (!claimed.add(url)) return;
        open.incrementAndGet();
        pool.execute(() -> {
            try {
                Page page = web.fetch(url);
                seen.put(url, page);
                page.links().forEach(this::visit);
            } catch (NoSuchElementException e) {
                broken.add(url);
            } finally {
                if (open.decrementAndGet() == 0) done.countDown();
            }
        });
    }

    public static void main(String[] args) throws InterruptedException {
        var crawler = new Crawler();
        crawler.visit("/");
        boolean finished = crawler.done.await(10, TimeUnit.SECONDS);
        crawler.pool.shutdown();
        System.out.println("finished " + finished + ", pages " + crawler.seen.size() + ", broken " + crawler.broken + ", fetches " + crawler.web.fetches());
        var incoming = new TreeMap<String, Integer>();
        crawler.seen.values().forEach(p -> p.links().forEach(l -> incoming.merge(l, 1, Integer::sum)));
        incoming.entrySet().stream().sorted(Map.Entry.<String, Integer>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey())).limit(5).forEach(e -> System.out.println(e.getValue() + " " + e.getKey()));
        crawler.seen.forEach((url, page) -> System.out.println(url + " „" + page.title() + "“ → " + page.links()));
    }
}
