//! The plot: bytes by partitions owned above, by topics below, a column for each pattern.

use core::error::Error;

use plotters::prelude::*;

use super::{Pattern, Row, Way};

const COLORS: [RGBColor; 6] = [
    RGBColor(0xb0, 0x30, 0x30),
    RGBColor(0xe0, 0x80, 0x30),
    RGBColor(0x90, 0x60, 0xb0),
    RGBColor(0x30, 0x70, 0xb0),
    RGBColor(0x50, 0x90, 0x90),
    RGBColor(0x20, 0x80, 0x30),
];

/// Draws the rows as SVG.
///
/// # Errors
///
/// What the drawing library says.
pub fn plot(rows: &[Row]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (1_260, 820)).into_drawing_area();
        root.fill(&WHITE)?;
        let panels = root.split_evenly((2, 3));
        for (at, pattern) in Pattern::ALL.into_iter().enumerate() {
            let by_owned: Vec<(f64, &Row)> = rows
                .iter()
                .filter(|row| row.pattern == pattern && row.topics == 100)
                .map(|row| (row.owned as f64, row))
                .collect();
            panel(
                &panels[at],
                &format!("{}, 100 topics", pattern.name()),
                "partitions owned",
                &by_owned,
                at == 0,
            )?;
            let by_topics: Vec<(f64, &Row)> = rows
                .iter()
                .filter(|row| row.pattern == pattern && row.owned.abs_diff(10_000) < 2_000)
                .map(|row| (f64::from(row.topics), row))
                .collect();
            panel(
                &panels[3 + at],
                &format!("{}, 10,000 owned", pattern.name()),
                "topics",
                &by_topics,
                false,
            )?;
        }
        root.present()?;
    }
    Ok(svg)
}

type Panel<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn panel(
    area: &Panel<'_>,
    title: &str,
    across: &str,
    rows: &[(f64, &Row)],
    legend: bool,
) -> Result<(), Box<dyn Error>> {
    let ends = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        (least.max(1.0), values.iter().copied().fold(1.0, f64::max))
    };
    let (left, right) = ends(&rows.iter().map(|(x, _)| *x).collect::<Vec<_>>());
    let all: Vec<f64> = rows.iter().flat_map(|(_, row)| row.bytes).map(|bytes| bytes as f64).collect();
    let (low, high) = ends(&all);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(70)
        .build_cartesian_2d((left..right * 1.01).log_scale(), (low * 0.8..high * 1.3).log_scale())?;
    let short = |value: &f64| match *value {
        value if value >= 1e6 => format!("{:.0} M", value / 1e6),
        value if value >= 1e3 => format!("{:.0} k", value / 1e3),
        value => format!("{value:.0}"),
    };
    chart
        .configure_mesh()
        .light_line_style(WHITE.mix(0.0))
        .x_desc(across)
        .y_desc("bytes")
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .draw()?;
    for (at, way) in Way::ALL.into_iter().enumerate() {
        let width = if way == Way::Tenure { 3 } else { 2 };
        let line = rows.iter().map(|(x, row)| (*x, row.bytes[at] as f64));
        let color = COLORS[at];
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(width)))?
            .label(way.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(width)));
    }
    if legend {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.4))
            .label_font(("sans-serif", 12))
            .draw()?;
    }
    Ok(())
}
