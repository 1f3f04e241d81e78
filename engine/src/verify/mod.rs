//! Is this plan valid, and is there no better one? An answer that trusts no planner.
//!
//! Nothing here shares code with [`plan`](crate::plan): claims are settled again, and what is optimal is
//! decided by a [`Certificate`] that anyone can check by one pass over the arcs.
//!
//! # What is proven, and why it holds
//!
//! A plan gives x(m, c) partitions of class c to member m; a member's load L(m) is the sum of its x.
//! A certificate puts each member into a *block* and gives each block a *level*; λ(m) is the level of
//! m's block, and λ(c) of a class the least λ among its subscribers.
//!
//! ```text
//! block 0, level 9    members 8 9 9     ◄─┐ a class of block 1 may have subscribers up here (they get none
//! block 1, level 5    members 5 4 5 4   ──┘ of it), but none further down
//! block 2, level 1    members 1 0
//! ```
//!
//! **Balance.** If (1) every load is λ(m) − 1 or λ(m), and (2) x(m, c) > 0 only where λ(m) = λ(c), then no
//! assignment has a smaller load vector, sorted descending, nor a smaller sum of squares. *Proof.* Take any
//! strictly convex f over the integers and let g(m) = f(λ(m)) − f(λ(m) − 1). By (1) g(m) is a subgradient of f
//! at L(m), so any other assignment y, with loads K, has f(K(m)) ≥ f(L(m)) + g(m)·(K(m) − L(m)). Sum over all
//! members and reorder by classes: Σ f(K) − Σ f(L) ≥ Σ over c of Σ over m of g(m)·(y(m, c) − x(m, c)). As g
//! rises with λ, the partitions of c cost least where λ(m) = λ(c), and by (2) that is where x has all of
//! them: each inner sum is ≥ 0. With f(z) = z² this is the sum of squares, with f(z) = (P + 2)^z the sorted
//! vector. ∎
//!
//! **Who else is best.** Equality holds exactly if y too gives class c only to members with λ(m) = λ(c), and
//! K(m) is λ(m) − 1 or λ(m), the only two points where the line of slope g(m) touches f. So (1) and (2) are
//! *all* plans of best balance; call an arc (m, c) *open* if λ(m) = λ(c).
//!
//! **Cost.** Over those plans x is a flow of convex cost: a move where x(m, c) falls below the home h(m, c),
//! a rack mismatch for each unit where racks do not meet, in the [`Weights`](crate::rack::Weights) of the
//! objective. Homes on arcs that are not open move in every best plan. A flow is of least cost if and only if
//! its residual graph has no negative cycle, and integer potentials π with π(v) ≤ π(u) + cost for each
//! residual arc u → v show just that, because the costs round a cycle then add up to at least 0:
//!
//! ```text
//! m → c   if x > 0, open    + moved if x ≤ h, else 0; − mismatch if the arc has one
//! c → m   if open           − moved if x < h, else 0; + mismatch if the arc has one
//! t → m   if L(m) = λ(m)    0         m may end with one less,
//! m → t   if L(m) < λ(m)    0         or with one more: t is the block's terminal
//! ```
//!
//! Blocks of one level may be settled apart only if no class is open to two of them: (3) all members of an
//! open arc of a class are of one block. Then what flows into each terminal is the size of the block's
//! classes less Σ (λ − 1), the same in every best plan, and a terminal of its own for each block loses
//! nothing.
//!
//! The potentials are a property of the group, not of one plan: by complementary slackness those found with
//! one best plan fit every other one. So a changed plan passes if and only if it is as good.

mod certificate;
mod check;
mod flow;
mod levels;
mod optimum;
mod proposal;
mod tally;

pub use certificate::{Certificate, NO_BLOCK};
pub use check::{Figures, Refusal, check};
pub use optimum::{Distance, Optimum, measure, optimum};
pub use proposal::{Fault, Proposal};
