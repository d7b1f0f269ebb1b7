//! Areas, centroids and point tests of polygons with integer corners.
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    x: i64,
    y: i64,
}

fn cross(o: Point, a: Point, b: Point) -> i64 {
    (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)
}

#[derive(Debug, PartialEq)]
enum Place {
    Inside,
    Outside,
    Edge,
}

struct Polygon(Vec<Point>);

impl Polygon {
    fn new(corners: &[(i64, i64)]) -> Self {
        Polygon(corners.iter().map(|&(x, y)| Point { x, y }).collect())
    }

    fn sides(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        self.0.iter().copied().zip(self.0.iter().copied().cycle().skip(1))
    }

    fn doubled_area(&self) -> i64 {
        self.sides().map(|(a, b)| a.x * b.y - b.x * a.y).sum()
    }

    fn centroid(&self) -> (f64, f64) {
        let k = 3.0 * self.doubled_area() as f64;
        let sum = |f: fn(Point) -> i64| -> i64 {
            self.sides()
                .map(|(a, b)| (f(a) + f(b)) * (a.x * b.y - b.x * a.y))
                .sum()
        };
        (sum(|p| p.x) as f64 / k, sum(|p| p.y) as f64 / k)
    }

    fn is_convex(&self) -> bool {
        let n = self.0.len();
        let turns: Vec<Ordering> = (0..n)
            .map(|i| cross(self.0[i], self.0[(i + 1) % n], self.0[(i + 2) % n]).cmp(&0))
            .collect();
        turns.iter().all(|&t| t == turns[0])
    }

    fn locate(&self, p: Point) -> Place {
        let mut inside = false;
        for (a, b) in self.sides() {
            let turn = cross(a, b, p);
            let within = (p.x - a.x) * (p.x - b.x) <= 0 && (p.y - a.y) * (p.y - b.y) <= 0;
            if turn == 0 && within {
                return Place::Edge;
            }
            if (a.y > p.y) != (b.y > p.y) && (turn > 0) == (b.y > a.y) {
                inside = !inside;
            }
        }
        if inside { Place::Inside } else { Place::Outside }
    }
}

fn main() {
    let shapes = [
        ("square", Polygon::new(&[(0, 0), (4, 0), (4, 4), (0, 4)])),
        ("arrow", Polygon::new(&[(0, 0), (6, 3), (0, 6), (2, 3)])),
        ("clockwise", Polygon::new(&[(0, 0), (0, 5), (7, 5)])),
    ];
    for (name, shape) in &shapes {
        let (x, y) = shape.centroid();
        println!(
            "{name}: area {}, centroid ({x:.3}, {y:.3}), convex {}",
            shape.doubled_area().abs() as f64 / 2.0,
            shape.is_convex()
        );
        for (x, y) in [(1, 3), (2, 3), (4, 4), (9, 9), (3, 2)] {
            println!("  ({x},{y}) {:?}", shape.locate(Point { x, y }));
        }
    }
}
