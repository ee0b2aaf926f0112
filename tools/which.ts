// Prints the Node that runs this repository's files.
console.log(process.versions.node)
