//! Tasks as text: everything that is needed to understand a failing case, in infix notation.

use std::fmt;

use surefoot_engines::Task;
use surefoot_model::{Command, ExprId, LabelId, Outcome, VariableType};
use surefoot_policy::{
    Activation, Element, Node, Parameter, Policy, PolicyInput, Scorer, Source, Tree, TreeNode,
};

use super::RandomTask;

impl fmt::Display for RandomTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = &self.task;
        for variable in &task.system.variables {
            match variable.ty {
                VariableType::Bool => writeln!(f, "{}: bool", variable.name)?,
                VariableType::Int { lower, upper } => writeln!(f, "{}: {lower}..{upper}", variable.name)?,
                VariableType::Real { lower, upper } => {
                    writeln!(f, "{}: real {lower}..{upper}", variable.name)?;
                }
            }
        }
        for command in &task.system.commands {
            writeln!(f, "{}", command_text(task, command))?;
        }
        let show = |id: ExprId| task.system.exprs.display(id, &task.system.variables);
        let property = &task.property;
        let conditions = [
            ("start", property.start.condition),
            ("unsafe", Some(property.unsafe_states)),
            ("goal", property.goal),
            ("hold", property.hold),
        ];
        for (name, condition) in conditions {
            if let Some(condition) = condition {
                writeln!(f, "{name}: {}", show(condition))?;
            }
        }
        for state in &property.start.listed {
            writeln!(f, "start: {state:?}")?;
        }
        for &predicate in &property.predicates {
            writeln!(f, "predicate: {}", show(predicate))?;
        }
        match &task.policy {
            Some(policy) => write_policy(f, task, policy)?,
            None => writeln!(f, "no policy")?,
        }
        writeln!(f, "{:?}", task.semantics)
    }
}

fn label_text(task: &Task, label: LabelId) -> &str {
    &task.system.labels[label.index()].name
}

fn command_text(task: &Task, command: &Command) -> String {
    let label = command.label.map_or("silent", |label| label_text(task, label));
    let guard = task.system.exprs.display(command.guard, &task.system.variables);
    let outcomes: Vec<String> = command.outcomes.iter().map(|outcome| outcome_text(task, outcome)).collect();
    format!("[{label}] {guard} → {}", outcomes.join("  +  "))
}

fn outcome_text(task: &Task, outcome: &Outcome) -> String {
    let show = |id: ExprId| task.system.exprs.display(id, &task.system.variables);
    let assignments = outcome.assignments.iter();
    let assignments: Vec<String> = assignments
        .map(|a| format!("{} := {}", task.system.variables[a.variable.index()].name, show(a.value)))
        .collect();
    let mut text = format!("{}: {{{}}}", show(outcome.probability), assignments.join(", "));
    for requirement in &outcome.requirements {
        text += " requires ";
        text += &show(requirement.condition);
    }
    text
}

fn numbers(parameters: impl IntoIterator<Item = Parameter>) -> String {
    let texts: Vec<String> = parameters.into_iter().map(|p| p.double.to_string()).collect();
    texts.join(", ")
}

fn write_policy(f: &mut fmt::Formatter<'_>, task: &Task, policy: &Policy) -> fmt::Result {
    let inputs = policy.inputs.iter().map(|input| match *input {
        PolicyInput::Variable(v) => task.system.variables[v.index()].name.clone(),
        PolicyInput::Constant(value) => value.to_string(),
    });
    let inputs: Vec<String> = inputs.collect();
    let outputs: Vec<&str> = policy.outputs.iter().map(|&label| label_text(task, label)).collect();
    writeln!(f, "policy: ({}) ↦ ({})", inputs.join(", "), outputs.join(", "))?;
    match &policy.scorer {
        Scorer::Network(network) => {
            for (index, node) in network.nodes().iter().enumerate() {
                writeln!(f, "  node {index}: {}", node_text(node))?;
            }
        }
        Scorer::Ensemble(ensemble) => {
            writeln!(f, "  base: [{}]", numbers(ensemble.base().iter().copied()))?;
            for tree in ensemble.trees() {
                writeln!(f, "  tree: {}", tree_text(tree, 0))?;
            }
        }
    }
    Ok(())
}

fn source_text(source: Source) -> String {
    match source {
        Source::Input => "inputs".into(),
        Source::Node(node) => format!("node {node}"),
    }
}

fn node_text(node: &Node) -> String {
    match node {
        Node::Layer { from, layer } => {
            let neuron = |neuron| {
                let products =
                    layer.row(neuron).map(|(input, weight)| format!("{}·x{input} + ", weight.double));
                format!("({}{})", products.collect::<String>(), layer.bias(neuron).double)
            };
            let neurons: Vec<String> = (0..layer.neurons()).map(neuron).collect();
            format!(
                "{} of [{}] over {}",
                activation_text(layer.activation()),
                neurons.join(", "),
                source_text(*from)
            )
        }
        Node::Arrange { elements } => {
            let element = |element: &Element| format!("{}[{}]", source_text(element.source), element.index);
            elements.iter().map(element).collect::<Vec<_>>().join(", ")
        }
        Node::Maximum { left, right } => {
            format!("maximum of {} and {}", source_text(*left), source_text(*right))
        }
        Node::Quotient { from, divisors } => {
            format!("{} divided by [{}]", source_text(*from), numbers(divisors.iter().copied()))
        }
    }
}

fn activation_text(activation: Activation) -> String {
    let parameters = match activation {
        Activation::LeakyRelu { slope } => format!(" {}", slope.double),
        Activation::Elu { scale } => format!(" {}", scale.double),
        Activation::Clip { low, high } => format!(" {}..{}", low.double, high.double),
        Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => String::new(),
    };
    format!("{}{parameters}", activation.name())
}

fn tree_text(tree: &Tree, node: u32) -> String {
    match tree.nodes()[node as usize] {
        TreeNode::Leaf(leaf) => format!("[{}]", numbers(tree.values(leaf).iter().copied())),
        TreeNode::Split { feature, threshold, left, right } => {
            let (left, right) = (tree_text(tree, left), tree_text(tree, right));
            format!("(if input {feature} < {} then {left} else {right})", threshold.double)
        }
    }
}
