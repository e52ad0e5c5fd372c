//! The order of the steps, seen through a recording double.

use super::{Enforcer, SelfLimits, Step, confine, plan};
use crate::{Layers, Result, StepError};

const LIMITS: SelfLimits = SelfLimits { open_files: 9, file_bytes: 9, address_space: 0, processes: 9 };

#[derive(Default)]
struct Recorder {
    done: Vec<Step>,
    fail_at: Option<Step>,
}

impl Enforcer for Recorder {
    fn enforce(&mut self, step: &Step) -> Result<()> {
        if self.fail_at.as_ref() == Some(step) {
            return Err(StepError::new("test", std::io::ErrorKind::PermissionDenied.into()));
        }
        self.done.push(step.clone());
        Ok(())
    }
}

fn position(steps: &[Step], wanted: &Step) -> usize {
    steps.iter().position(|step| step == wanted).unwrap()
}

#[test]
fn every_layer_is_there_and_in_the_order_the_kernel_needs() {
    let mut recorder = Recorder::default();
    confine(&plan(Layers::ALL, LIMITS, vec![5]), &mut recorder).unwrap();
    let steps = recorder.done;
    assert_eq!(steps.len(), 10);
    assert_eq!(steps[..2], [Step::EnterGroups, Step::JoinNamespaces]);
    assert!(position(&steps, &Step::BecomeInnerUser) < position(&steps, &Step::DropCapabilities));
    assert!(position(&steps, &Step::DropCapabilities) < position(&steps, &Step::NoNewPrivileges));
    assert!(position(&steps, &Step::NoNewPrivileges) < position(&steps, &Step::RestrictFiles));
    assert!(position(&steps, &Step::CloseDescriptors(vec![5])) < position(&steps, &Step::FilterCalls));
    assert_eq!(steps.last(), Some(&Step::FilterCalls));
}

#[test]
fn a_failed_step_stops_everything_after_it() {
    let mut recorder = Recorder { fail_at: Some(Step::NoNewPrivileges), ..Recorder::default() };
    confine(&plan(Layers::ALL, LIMITS, vec![]), &mut recorder).unwrap_err();
    assert!(!recorder.done.contains(&Step::RestrictFiles));
    assert!(!recorder.done.contains(&Step::FilterCalls));
}

#[test]
fn a_layer_that_is_off_leaves_only_its_own_step_out() {
    let steps = plan(Layers { seccomp: false, ..Layers::ALL }, LIMITS, vec![]);
    assert_eq!(steps.len(), 9);
    assert!(!steps.contains(&Step::FilterCalls));
}

#[test]
fn layers_survive_the_wire() {
    let odd = Layers { landlock: false, hostname: false, ..Layers::ALL };
    assert_eq!(Layers::from_bits(odd.bits()), odd);
}
