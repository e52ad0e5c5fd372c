//! Which upstream has which model: names, patterns with a star at the end, and groups of several
//! upstreams under one name, among which the load is spread.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{KeptBy, Upstream};

/// How long a member of a group that failed is asked last.
const REST: Duration = Duration::from_secs(15);

/// One upstream under one name.
#[derive(Debug)]
pub struct Member {
    upstream: Arc<dyn Upstream>,
    /// What the upstream calls it. A star stands for what the star of the name stands for.
    model: Option<String>,
    rounds: Option<u32>,
    /// Where the code of this model runs.
    backend: Option<String>,
    /// Milliseconds since the table was made.
    resting_until: AtomicU64,
}

impl Member {
    #[must_use]
    pub fn new(upstream: Arc<dyn Upstream>, model: Option<String>, rounds: Option<u32>) -> Self {
        Self { upstream, model, rounds, backend: None, resting_until: AtomicU64::new(0) }
    }

    /// None: where the server's code runs.
    #[must_use]
    pub fn on_backend(self, backend: Option<String>) -> Self {
        Self { backend, ..self }
    }
}

#[derive(Debug)]
pub(super) struct Group {
    /// As configured: a name, or what stands before the star.
    name: String,
    members: Vec<Member>,
    turn: AtomicUsize,
}

/// All names. Made once, exchanged as a whole.
#[derive(Debug)]
pub struct Routes {
    exact: HashMap<String, usize>,
    /// Patterns, the longest first.
    patterns: Vec<usize>,
    /// In the order of the configuration.
    groups: Vec<Group>,
    /// Takes what names no model.
    default: Option<Arc<dyn Upstream>>,
    /// One upstream for everything, whose names are its own business.
    is_lone: bool,
    born: Instant,
}

/// A name by which a model can be asked for, for people to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteShown {
    pub name: String,
    pub members: Vec<MemberShown>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberShown {
    pub upstream: String,
    /// What the upstream calls it; None: the same.
    pub model: Option<String>,
    /// It failed a moment ago, and is asked last.
    pub is_resting: bool,
}

/// A member chosen for a request.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) upstream: &'a Arc<dyn Upstream>,
    /// The name to send, where it is another than the client's.
    pub(super) model: Option<String>,
    member: &'a Member,
}

/// Who may have something that an upstream keeps.
#[derive(Debug)]
pub(super) struct Keeper<'a> {
    pub(super) upstream: &'a Arc<dyn Upstream>,
    /// Its name for the model, where it is another than the client's.
    pub(super) model: Option<String>,
}

impl Routes {
    /// Everything goes to this one, whatever the model is called.
    #[must_use]
    pub fn lone(upstream: Arc<dyn Upstream>) -> Self {
        let member = Member::new(Arc::clone(&upstream), None, None);
        let mut routes = Self::named([("*".to_owned(), member)], None);
        routes.default = Some(upstream);
        routes.is_lone = true;
        routes
    }

    /// By name; the same name may come several times. `default` takes requests that name no model;
    /// without it, what takes all names does.
    #[must_use]
    pub fn named(
        models: impl IntoIterator<Item = (String, Member)>,
        default: Option<Arc<dyn Upstream>>,
    ) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (name, member) in models {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                groups.push(Group { name, members: Vec::new(), turn: AtomicUsize::new(0) });
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(place) {
                group.members.push(member);
            }
        }
        let mut patterns: Vec<usize> = Vec::new();
        places.retain(|name, place| {
            let is_pattern = name.ends_with('*');
            if is_pattern {
                patterns.push(*place);
            }
            !is_pattern
        });
        patterns.sort_by_key(|place| std::cmp::Reverse(groups.get(*place).map(|group| group.name.len())));
        let takes_all = groups.iter().find(|group| group.name == "*");
        let default =
            default.or_else(|| takes_all?.members.first().map(|member| Arc::clone(&member.upstream)));
        Self { exact: places, patterns, groups, default, is_lone: false, born: Instant::now() }
    }

    pub(super) fn is_lone(&self) -> bool {
        self.is_lone
    }

    pub(super) fn default(&self) -> Option<&Arc<dyn Upstream>> {
        self.default.as_ref()
    }

    /// The names a client can ask for, without patterns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.name.as_str()).filter(|name| !name.ends_with('*'))
    }

    /// Every name, and who is behind it.
    pub(super) fn overview(&self) -> Vec<RouteShown> {
        let now = self.now();
        let shown = |member: &Member| MemberShown {
            upstream: member.upstream.name().to_owned(),
            model: member.model.clone(),
            is_resting: member.resting_until.load(Ordering::Relaxed) > now,
        };
        let group = |group: &Group| RouteShown {
            name: group.name.clone(),
            members: group.members.iter().map(shown).collect(),
        };
        self.groups.iter().map(group).collect()
    }

    /// Upstreams behind patterns: only they know what they have.
    pub(super) fn open_ended(&self) -> impl Iterator<Item = &Arc<dyn Upstream>> {
        let groups = self.patterns.iter().filter_map(|place| self.groups.get(*place));
        groups.filter_map(|group| group.members.first()).map(|member| &member.upstream)
    }

    pub(super) fn any(&self, holds: impl Fn(&Arc<dyn Upstream>) -> bool) -> bool {
        self.groups.iter().flat_map(|group| &group.members).any(|member| holds(&member.upstream))
            || self.default.as_ref().is_some_and(holds)
    }

    fn group(&self, model: &str) -> Option<&Group> {
        let exact = self.exact.get(model);
        let place = exact.or_else(|| {
            self.patterns.iter().find(|place| {
                self.groups.get(**place).is_some_and(|group| starred(&group.name, model).is_some())
            })
        })?;
        self.groups.get(*place)
    }

    pub(super) fn knows(&self, model: &str) -> bool {
        self.group(model).is_some()
    }

    /// Whether every member that may be asked can do this.
    pub(super) fn all(&self, model: &str, can: impl Fn(&Arc<dyn Upstream>) -> bool) -> bool {
        self.group(model).is_some_and(|group| group.members.iter().all(|member| can(&member.upstream)))
    }

    pub(super) fn rounds(&self, model: &str) -> Option<u32> {
        self.group(model)?.members.iter().filter_map(|member| member.rounds).max()
    }

    /// The first that is named counts for the group: its code runs in one place, whichever member is asked.
    pub(super) fn backend(&self, model: &str) -> Option<String> {
        self.group(model)?.members.iter().find_map(|member| member.backend.clone())
    }

    /// The members for one request, in the order in which to ask them: each in its turn, those that
    /// failed a moment ago last. None: nobody has this model.
    pub(super) fn choices(&self, model: &str) -> Option<Vec<Choice<'_>>> {
        let group = self.group(model)?;
        let first = group.turn.fetch_add(1, Ordering::Relaxed) % group.members.len();
        let (before, after) = group.members.split_at(first);
        let mut members: Vec<&Member> = after.iter().chain(before).collect();
        let now = self.now();
        members.sort_by_key(|member| member.resting_until.load(Ordering::Relaxed) > now);
        Some(
            members
                .into_iter()
                .map(|member| Choice {
                    upstream: &member.upstream,
                    model: renamed(&group.name, member, model),
                    member,
                })
                .collect(),
        )
    }

    /// Who may have something that was kept: the members of that name behind the model, or of that name anywhere
    /// if the table was changed meanwhile, or whoever has the model now, or who takes what names no model.
    pub(super) fn keepers(&self, kept_by: &KeptBy) -> Vec<Keeper<'_>> {
        let model = kept_by.model.as_deref();
        let named =
            |member: &Member| kept_by.upstream.as_deref().is_some_and(|n| member.upstream.name() == n);
        let group = model.and_then(|model| self.group(model));
        let behind = |is_wanted: &dyn Fn(&Member) -> bool| -> Vec<Keeper<'_>> {
            let (Some(group), Some(model)) = (group, model) else { return Vec::new() };
            let members = group.members.iter().filter(|member| is_wanted(member));
            members
                .map(|member| Keeper {
                    upstream: &member.upstream,
                    model: renamed(&group.name, member, model),
                })
                .collect()
        };
        let mut found = behind(&named);
        if found.is_empty() {
            for member in self.groups.iter().flat_map(|group| &group.members).filter(|member| named(member)) {
                if !found.iter().any(|keeper| Arc::ptr_eq(keeper.upstream, &member.upstream)) {
                    found.push(Keeper { upstream: &member.upstream, model: None });
                }
            }
        }
        if found.is_empty() {
            found = behind(&|_| true);
        }
        if found.is_empty() {
            found.extend(self.default.iter().map(|upstream| Keeper { upstream, model: None }));
        }
        found
    }

    /// Asked last for a while.
    pub(super) fn let_rest(&self, choice: &Choice<'_>) {
        let until = self.now() + u64::try_from(REST.as_millis()).unwrap_or(u64::MAX);
        choice.member.resting_until.store(until, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// What the star stands for.
fn starred<'a>(pattern: &str, model: &'a str) -> Option<&'a str> {
    model.strip_prefix(pattern.strip_suffix('*')?)
}

fn renamed(name: &str, member: &Member, model: &str) -> Option<String> {
    let to = member.model.as_deref()?;
    let sent = match (starred(name, model), to.strip_suffix('*')) {
        (Some(rest), Some(before)) => format!("{before}{rest}"),
        _ => to.to_owned(),
    };
    (sent != model).then_some(sent)
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
