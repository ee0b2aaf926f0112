// Parses the syntax that our Dockerfile uses: stages, and the instructions of each in order. Tests
// check rules with it, and run the steps on machines without Docker.

export type Step = { readonly word: string; readonly rest: string; readonly line: number }
export type Stage = { readonly name: string; readonly image: string; readonly steps: Step[] }

export function readDockerfile(text: string): Stage[] {
  const stages: Stage[] = []
  for (const [i, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (word === '') throw new Error(`line ${i + 1} of the Dockerfile is no instruction: ${line}`)
    if (word === 'FROM') {
      const [image = '', , name = 'last'] = rest.split(' ')
      stages.push({ name, image, steps: [] })
    } else stages.at(-1)?.steps.push({ word, rest, line: i + 1 })
  }
  return stages
}

/** `COPY [--from=stage] source… target`. */
export function readCopy(rest: string) {
  const words = rest.split(' ')
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter((word) => !word.startsWith('--'))
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }
}

/** `ENV A=b C=d`, of all instructions together. */
export function readEnvironment(steps: readonly Step[]): Record<string, string> {
  const pairs = steps
    .filter(({ word }) => word === 'ENV')
    .flatMap(({ rest }) => rest.split(' '))
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])
  return Object.fromEntries(pairs)
}
