//! All that is known of a group's budget.

use tenure::plan::{Plan, Strategy};
use tenure::protocol::budget::{
    Budget, Check, Figures, Form, Format, Limits, Moment, Remedies, Subject, Surroundings,
};
use tenure::revoke::{Mode, Round};

use super::Measured;
use crate::snapshot::Snapshot;

/// What a budget is held against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The limits.
    pub limits: Limits,
    /// What the messages carry and a group does not know.
    pub around: Surroundings<'a>,
}

/// A check of the settled round, and the sizes of the group at which it fails.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The check.
    pub check: Check,
    /// The members with which it would fail, everything else as it is.
    pub members_beyond: Option<u64>,
    /// The partitions with which it would fail, every topic growing alike.
    pub partitions_beyond: Option<u64>,
}

/// The figures of one form.
#[derive(Clone, Copy, Debug)]
pub struct FormFigures {
    /// The form.
    pub form: Form,
    /// The round as the group stands.
    pub now: Figures,
    /// The round when everybody has what is planned.
    pub settled: Figures,
}

impl FormFigures {
    fn of(budget: &Budget<'_>, form: Form) -> Self {
        let figures = |moment| budget.figures(form, moment);
        Self { form, now: figures(Moment::Now), settled: figures(Moment::Settled) }
    }
}

/// The budget of one group.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The group's name, where the input tells it.
    pub group: Option<&'a str>,
    /// The assignor that planned.
    pub strategy: Strategy,
    /// The counted members.
    pub budget: Budget<'a>,
    /// What it is held against.
    pub limits: Limits,
    /// The form in which the group's own members join.
    pub own: FormFigures,
    /// The round as it stands against the limits.
    pub now: [Check; 5],
    /// The settled round against the limits.
    pub settled: [Held; 5],
    /// Every form.
    pub forms: Vec<FormFigures>,
    /// What would help.
    pub remedies: Remedies,
    /// What the leader's round costs here; `None` if it was not or could not be measured.
    pub measured: Option<Measured>,
    /// What had to be assumed of the input.
    pub assumptions: &'a [String],
}

impl<'a> Report<'a> {
    /// Counts the rounds that follow from a plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure::plan::Assignor;
    /// use tenure_cli::budget::{Options, Report};
    /// use tenure_cli::snapshot;
    ///
    /// let text = r#"{"topics": {"t": 3}, "members": {"a": {"topics": ["t"]}}}"#;
    /// let snapshot = snapshot::read(text.as_bytes(), &Default::default())?;
    /// let (plan, _) = Assignor::default().assign(&snapshot.group)?;
    /// let report = Report::new(&snapshot, &plan, &Options::default());
    /// assert!(report.fits());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(snapshot: &'a Snapshot, plan: &'a Plan, options: &Options<'_>) -> Self {
        let Snapshot { strategy, group } = snapshot;
        let round = Round::new(group, plan, Mode::Shipped);
        let budget = Budget::new(&round, &options.around);
        let form = Form::newest(Format::of(*strategy));
        let own = FormFigures::of(&budget, form);
        let limits = options.limits;
        let members = group.members() as u64;
        let settled = limits.check(&own.settled).map(|check| {
            let growth = budget.growth(form, check.subject);
            let beyond = |limit| match check.subject {
                Subject::Members => (limit < u64::MAX).then(|| limit + 1),
                _ => growth.as_ref()?.members_beyond(limit),
            };
            Held {
                check,
                members_beyond: check.limit.and_then(beyond).filter(|_| members > 0),
                partitions_beyond: check.limit.and_then(|limit| growth.as_ref()?.partitions_beyond(limit)),
            }
        });
        Self {
            group: None,
            strategy: *strategy,
            limits,
            own,
            now: limits.check(&own.now),
            settled,
            forms: Form::all().map(|form| FormFigures::of(&budget, form)).collect(),
            remedies: budget.remedies(form, &limits),
            measured: None,
            assumptions: &[],
            budget,
        }
    }

    /// Whether the round fits, as the group stands and when it has settled.
    pub fn fits(&self) -> bool {
        self.fits_now() && self.fits_settled()
    }

    /// Whether the round fits as the group stands.
    pub fn fits_now(&self) -> bool {
        self.now.iter().all(Check::fits)
    }

    /// Whether it fits when the group has settled.
    pub fn fits_settled(&self) -> bool {
        self.settled.iter().all(|held| held.check.fits())
    }
}
