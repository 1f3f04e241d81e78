//! Plots: a cluster of bars a group, one bar a contestant, on a logarithmic scale.

use std::io;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::view::{View, split};
use crate::contest::Call;
use crate::contest::own::NAME;

/// Colours that people with weak colour vision tell apart (after Okabe and Ito).
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(120, 120, 120),
];

/// Draws all plots into a folder: their files, and `event/call` that each shows.
pub(super) fn write(folder: &Path, view: &View) -> io::Result<Vec<(String, String)>> {
    let mut plots = Vec::new();
    for event in view.events() {
        for call in [Call::Plan, Call::Round] {
            let clusters = clusters(view, &event, call);
            if clusters.iter().all(|(_, bars)| bars.len() < 2) {
                continue;
            }
            let file = format!("{event}-{call}.svg");
            let path = folder.join(&file);
            let root = SVGBackend::new(&path, (1100, 520)).into_drawing_area();
            let title = match call {
                Call::Round => format!("{event}: whole leader round, CPU ms (least)"),
                _ => format!("{event}: plan only, CPU ms (least)"),
            };
            draw(&root, &title, &clusters, &view.contestants)
                .and_then(|()| root.present().map_err(|error| error.to_string()))
                .map_err(|error| io::Error::other(format!("{file}: {error}")))?;
            plots.push((file, format!("{event}/{call}")));
        }
    }
    Ok(plots)
}

/// For each group its shape and the bars: contestant, ms.
type Clusters = Vec<(String, Vec<(usize, f64)>)>;

fn clusters(view: &View, event: &str, call: Call) -> Clusters {
    view.groups_of(event)
        .map(|group| {
            let bar = |(at, contestant): (usize, &String)| {
                Some((at, view.timing(&group.group, contestant, call)?.min() / 1e6))
            };
            (split(&group.group).0.to_string(), view.contestants.iter().enumerate().filter_map(bar).collect())
        })
        .collect()
}

fn draw(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    clusters: &Clusters,
    contestants: &[String],
) -> Result<(), String> {
    let text = |error: DrawingAreaErrorKind<_>| error.to_string();
    root.fill(&WHITE).map_err(text)?;
    let all = || clusters.iter().flat_map(|(_, bars)| bars.iter().map(|bar| bar.1));
    let low = 10f64.powf(all().fold(f64::INFINITY, f64::min).log10().floor());
    // Two decades above the highest bar are for the legend.
    let high = 10f64.powf(all().fold(0.0, f64::max).log10().ceil()).max(low * 10.0) * 100.0;
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..clusters.len() as f64, (low..high).log_scale())
        .map_err(text)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_desc("ms")
        .y_label_formatter(&|ms| format!("{ms}"))
        .draw()
        .map_err(text)?;
    let width = 0.9 / contestants.len().max(1) as f64;
    for (at, contestant) in contestants.iter().enumerate() {
        let color = if contestant == NAME { BLACK } else { COLORS[at.saturating_sub(1) % COLORS.len()] };
        let bar = |place: usize, ms: f64| {
            let left = place as f64 + 0.05 + width * at as f64;
            Rectangle::new([(left, low), (left + width * 0.9, ms)], color.filled())
        };
        let bars = clusters.iter().enumerate().flat_map(|(place, (_, bars))| {
            bars.iter().filter(|shown| shown.0 == at).map(move |&(_, ms)| (place, ms))
        });
        chart
            .draw_series(bars.map(|(place, ms)| bar(place, ms)))
            .map_err(text)?
            .label(contestant.as_str())
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()
        .map_err(text)?;
    // Names below the axis, as the scale has numbers only.
    let (range, pixels) = (clusters.len().max(1), root.dim_in_pixel());
    let inner = f64::from(pixels.0 - 24 - 70);
    for (place, (name, _)) in clusters.iter().enumerate() {
        let middle = 12.0 + 70.0 + inner * (place as f64 + 0.5) / range as f64;
        let style = ("sans-serif", 13).into_text_style(root).pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        ));
        root.draw_text(name, &style, (middle as i32, pixels.1 as i32 - 40)).map_err(text)?;
    }
    Ok(())
}
