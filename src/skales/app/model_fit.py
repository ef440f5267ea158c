"""How a measured model is asked: what a probe found it unable to do is not asked of it.

A model that calls no tools but writes JSON to a schema gets its tools as a choice in text form, with the compact prompt
and the small offer of weak models. Spec: issue "All 26 providers", "Measured model contract".
"""

from dataclasses import replace

from skales.core.ports import ChosenModel, ModelTraits


def fit_to_measure(chosen: ChosenModel, traits: ModelTraits) -> ChosenModel:
    """The model as it is to be asked; one that nobody measured is asked as it is."""
    if chosen.weak or not traits.is_measured or traits.tools or not traits.json:
        return chosen
    from skales.providers.constrained import ConstrainedProvider  # loaded with the first model that needs it

    return replace(chosen, provider=ConstrainedProvider(chosen.provider), weak=True)
