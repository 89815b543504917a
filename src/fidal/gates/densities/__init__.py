"""Densities by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.gates.densities.base import Density
from fidal.gates.densities.class_mahalanobis import ClassMahalanobis
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.densities.knn_cosine import KnnCosine
from fidal.gates.densities.likelihood_ratio import LikelihoodRatio

DENSITIES: Mapping[str, type[Density]] = {
    part.name: part for part in (DiagonalGaussian, ClassMahalanobis, KnnCosine, LikelihoodRatio)
}
