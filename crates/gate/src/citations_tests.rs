//! Where links begin and may end.

use super::links;

fn all(text: &str) -> Vec<(String, Vec<String>)> {
    let characters: Vec<char> = text.chars().collect();
    links(text)
        .into_iter()
        .map(|link| {
            let slices = link.readings.iter().map(|(end, _)| characters[link.start..*end].iter().collect());
            let slices: Vec<String> = slices.collect();
            (slices[0].clone(), link.readings.into_iter().map(|(_, path)| path).collect())
        })
        .collect()
}

#[test]
fn a_markdown_link_is_cited_without_its_bracket() {
    let found = all("Saved. [Download the CSV](sandbox:/mnt/data/sums.csv)");
    assert_eq!(found, [("sandbox:/mnt/data/sums.csv".to_owned(), vec!["/mnt/data/sums.csv".to_owned()])]);
    let link = &links("Saved. [Download the CSV](sandbox:/mnt/data/sums.csv)")[0];
    assert_eq!((link.start, link.readings[0].0), (26, 52));
}

#[test]
fn characters_are_counted_not_bytes() {
    let link = &links("é😀 [x](sandbox:/mnt/data/ü.csv) and more")[0];
    assert_eq!((link.start, link.readings[0].0), (7, 30));
}

#[test]
fn odd_names_are_possible_readings() {
    let paths = |text: &str| all(text).into_iter().flat_map(|(_, paths)| paths).collect::<Vec<_>>();
    assert!(
        paths("[a](sandbox:/mnt/data/my plot (1).png).").contains(&"/mnt/data/my plot (1).png".to_owned())
    );
    assert!(paths("[a](sandbox:/mnt/data/my%20plot.png)").contains(&"/mnt/data/my plot.png".to_owned()));
    assert!(paths("see sandbox:/mnt/data/a.tar.gz.").contains(&"/mnt/data/a.tar.gz".to_owned()));
    assert!(paths("see 'sandbox:/mnt/data/a.txt', or").contains(&"/mnt/data/a.txt".to_owned()));
    assert!(paths("<img src=\"sandbox:/mnt/data/a.png\">").contains(&"/mnt/data/a.png".to_owned()));
    assert!(paths("**sandbox:/mnt/data/a.md**").contains(&"/mnt/data/a.md".to_owned()));
}

#[test]
fn other_places_are_no_links() {
    assert!(links("sandbox:/etc/passwd sandbox:/mnt/datax /mnt/data/x").is_empty());
    assert!(links("sandbox:/mnt/data/")[0].readings.is_empty());
}

#[test]
fn two_links_in_one_line_are_two() {
    let found = all("[a](sandbox:/mnt/data/a.csv), [b](sandbox:/mnt/data/b.csv)");
    assert_eq!(found.len(), 2);
    assert!(found[0].1.contains(&"/mnt/data/a.csv".to_owned()));
    assert_eq!(found[1].0, "sandbox:/mnt/data/b.csv");
}

#[test]
fn a_text_of_links_alone_costs_little() {
    let text = "(sandbox:/mnt/data/a)".repeat(50_000);
    let found = links(&text);
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|link| link.readings.len() <= 32));
}
