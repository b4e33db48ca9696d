//! Intervals for rates.

/// The standard normal quantile of a two-sided 95 % interval.
pub const Z95: f64 = 1.959_963_984_540_054;

/// The Wilson score interval of `k` successes in `n` trials; 0 to 1 when there are no trials.
pub fn wilson(k: usize, n: usize, z: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (k, n) = (k as f64, n as f64);
    let (rate, square) = (k / n, z * z);
    let scale = 1.0 + square / n;
    let centre = (rate + square / (2.0 * n)) / scale;
    let half = z * (rate * (1.0 - rate) / n + square / (4.0 * n * n)).sqrt() / scale;
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// The standard error of the mean; `None` of fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe 1998, table I: 81 of 263, and 0 of 20.
        let (low, high) = wilson(81, 263, Z95);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        let (low, high) = wilson(0, 20, Z95);
        assert!(low.abs() < 1e-12 && (high - 0.1611).abs() < 5e-5, "{low} {high}");
    }

    #[test]
    fn the_ends_are_kept() {
        assert_eq!(wilson(0, 0, Z95), (0.0, 1.0));
        assert!((wilson(20, 20, Z95).1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_standard_error_needs_two_values() {
        assert_eq!(standard_error(&[1.0]), None);
        assert!((standard_error(&[0.0, 1.0]).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(mean(&[]), None);
    }
}
