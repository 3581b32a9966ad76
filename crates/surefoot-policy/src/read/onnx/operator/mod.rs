//! What the operators of ONNX mean, one family per file.

mod activation;
mod arithmetic;
mod arrange;
mod constant;
mod convert;
mod extremum;
mod matrix;
mod normalise;
mod reduce;
mod tail;

use super::call::{Call, Results};
use super::tree;

/// The operators of the default domain that are read, for messages.
const SUPPORTED: &str = "Add, ArgMax, BatchNormalization, Cast, Clip, Concat, Constant, ConstantOfShape, Div, \
     Dropout, Elu, Expand, Flatten, Gather, Gemm, Identity, LeakyRelu, LogSoftmax, MatMul, Max, Min, Mul, Neg, \
     ReduceLogSumExp, ReduceMax, ReduceMean, ReduceMin, ReduceSum, Relu, Reshape, Shape, Sigmoid, Slice, Softmax, \
     Split, Squeeze, Sub, Sum, Tanh, Transpose, Unsqueeze";

/// The same for the domain `ai.onnx.ml`.
const SUPPORTED_LEARNED: &str = "ArrayFeatureExtractor, Normalizer, Scaler, TreeEnsemble, \
     TreeEnsembleClassifier, TreeEnsembleRegressor, ZipMap";

/// Applies the operator of a node to its operands.
pub(super) fn apply(call: &mut Call<'_>) -> Results {
    match (call.node.domain.as_str(), call.node.operator.as_str()) {
        ("" | "ai.onnx", operator) => apply_default(call, operator),
        ("ai.onnx.ml", operator) => apply_learned(call, operator),
        (domain, _) => Err(call
            .error(format!("operators of the domain `{domain}` are not supported"))
            .with_hint(format!("supported are {SUPPORTED}; and of `ai.onnx.ml`, {SUPPORTED_LEARNED}"))),
    }
}

fn apply_default(call: &mut Call<'_>, operator: &str) -> Results {
    match operator {
        "Gemm" => matrix::gemm(call),
        "MatMul" => matrix::matmul(call),
        "Add" => arithmetic::sum(call, arithmetic::Sign::Plus),
        "Sub" => arithmetic::sum(call, arithmetic::Sign::Minus),
        "Mul" => arithmetic::product(call),
        "Div" => arithmetic::quotient(call),
        "Neg" => arithmetic::negation(call),
        "Sum" => arithmetic::long_sum(call),
        "Relu" | "LeakyRelu" | "Tanh" | "Sigmoid" | "Elu" | "Clip" => activation::apply(call, operator),
        "Max" => extremum::apply(call, extremum::Which::Largest),
        "Min" => extremum::apply(call, extremum::Which::Smallest),
        "ReduceMax" => extremum::reduce(call, extremum::Which::Largest),
        "ReduceMin" => extremum::reduce(call, extremum::Which::Smallest),
        "ReduceSum" => reduce::sum(call),
        "ReduceMean" => reduce::mean(call),
        "Concat" => arrange::concat(call),
        "Slice" => arrange::slice(call),
        "Gather" => arrange::gather(call),
        "Split" => arrange::split(call),
        "Reshape" => arrange::reshape(call),
        "Flatten" => arrange::flatten(call),
        "Transpose" => arrange::transpose(call),
        "Squeeze" => arrange::squeeze(call),
        "Unsqueeze" => arrange::unsqueeze(call),
        "Expand" => arrange::expand(call),
        "Identity" => Ok(vec![call.value(0)?]),
        "Cast" => convert::cast(call),
        "Dropout" => convert::dropout(call),
        "BatchNormalization" => normalise::batch(call),
        "Constant" => constant::constant(call),
        "ConstantOfShape" => constant::filled(call),
        "Shape" => constant::shape(call),
        "Softmax" | "LogSoftmax" => tail::softmax(call),
        "ArgMax" => tail::argmax(call),
        "ReduceLogSumExp" => tail::normaliser(call),
        _ => {
            Err(call.error("this operator is not supported").with_hint(format!("supported are {SUPPORTED}")))
        }
    }
}

fn apply_learned(call: &mut Call<'_>, operator: &str) -> Results {
    match operator {
        "TreeEnsembleClassifier" => tree::classifier(call),
        "TreeEnsembleRegressor" => tree::regressor(call),
        "TreeEnsemble" => tree::ensemble(call),
        "ZipMap" => tail::zip_map(call),
        "Normalizer" => tail::normalizer(call),
        "ArrayFeatureExtractor" => tail::label(call),
        "Scaler" => normalise::scaler(call),
        _ => Err(call
            .error("this operator is not supported")
            .with_hint(format!("supported of `ai.onnx.ml` are {SUPPORTED_LEARNED}"))),
    }
}
