//! `google.protobuf.Timestamp`: in JSON it is the time as RFC 3339 writes it, in UTC.

use serde::{Serialize, Serializer};

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

impl Timestamp {
    pub(crate) fn from_millis(millis: i64) -> Self {
        let nanos = i32::try_from(millis.rem_euclid(1000) * 1_000_000).unwrap_or_default();
        Self { seconds: millis.div_euclid(1000), nanos }
    }

    /// Years outside of 1 to 9999 cannot be written: the nearest that can stands for them.
    fn text(self) -> String {
        let seconds = self.seconds.clamp(-62_135_596_800, 253_402_300_799);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let fraction = match self.nanos {
            0 => String::new(),
            nanos => format!(".{:03}", nanos / 1_000_000),
        };
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text())
    }
}

/// Of a number of days since 1970. A year that begins in March has its leap day at its end, and 400 such
/// years repeat: so it is divisions all the way.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
#[path = "timestamp_tests.rs"]
mod tests;
