// A guidance mode whose policy loss forgets to return the loss.
// EXPECT: mara: the guidance needs `Var policy_loss\(Tape<float>&, Var loss, const PolicyTerms&\) const`
// EXPECT: GuidanceCheck<[^>]*Forgetful>
#include "toy.hpp"

struct Forgetful : mara::guidance::None {
  void policy_loss(mara::Tape<float>&, mara::Var, const mara::guidance::PolicyTerms&) const {}
};

int main() {
  return mara::check_guidance<Forgetful>() ? 0 : 1;
}
