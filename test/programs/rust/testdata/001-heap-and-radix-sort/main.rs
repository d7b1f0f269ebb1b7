//! Heap sort for any ordered type and a radix sort for integers.

fn sift_down<T: PartialOrd>(items: &mut [T], mut root: usize) {
    loop {
        let mut child = 2 * root + 1;
        if child >= items.len() {
            return;
        }
        if child + 1 < items.len() && items[child + 1] > items[child] {
            child += 1;
        }
        if items[root] >= items[child] {
            return;
        }
        items.swap(root, child);
        root = child;
    }
}

fn heap_sort<T: PartialOrd>(items: &mut [T]) {
    for root in (0..items.len() / 2).rev() {
        sift_down(items, root);
    }
    for end in (1..items.len()).rev() {
        items.swap(0, end);
        sift_down(&mut items[..end], 0);
    }
}

fn radix_sort(items: &mut Vec<u32>) {
    for shift in (0..32).step_by(8) {
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); 256];
        for &x in items.iter() {
            buckets[(x >> shift & 0xff) as usize].push(x);
        }
        *items = buckets.concat();
    }
}

fn main() {
    let mut words = ["pear", "fig", "éclair", "apple", "你好", "banana", "🦀"];
    heap_sort(&mut words);
    println!("{words:?}");
    let mut floats = vec![2.5, -1.0, 9.75, 0.0, 3.5];
    heap_sort(&mut floats);
    println!("{floats:?}");

    let mut state = 42u32;
    let mut numbers: Vec<u32> = (0..50_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        })
        .collect();
    let mut expected = numbers.clone();
    expected.sort_unstable();
    radix_sort(&mut numbers);
    println!(
        "radix agrees: {}, median {}",
        numbers == expected,
        numbers[25_000]
    );
    heap_sort(&mut numbers[..10]);
    println!("{:?}", &numbers[..5]);
}
