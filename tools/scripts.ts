// The npm scripts with one line each, in groups, as `npm run help` prints them. A test compares the
// names with package.json in both directions.

type Group = { readonly title: string; readonly scripts: Readonly<Record<string, string>> }

export const groups: readonly Group[] = [
  {
    title: 'Try it',
    scripts: {
      demo: 'start the whole service with stand-ins and a month of usage',
      dev: 'the same; servers restart when their source changes',
      'web:dev': 'serve only the pages of the cabinet, with hot reload',
      'console:dev': 'serve only the pages of operators, with hot reload',
      help: 'print this list',
    },
  },
  {
    title: 'Check a change',
    scripts: {
      check: 'types, lint, lock file, all tests and the build of the pages',
      test: 'run all tests, or the given files: npm test -- <file>',
      fix: 'format the source and fix what the linter can fix',
      'docs:test': 'run the examples, links and commands of the documentation',
      compat: 'run real client libraries against the gateway',
      journeys: 'browser tests in Chromium, or those that begin with a name',
      screens: 'write a picture of every page to .screens',
      faults: 'break something and check a promise: npm run faults -- <name>',
      bench: 'measure speed beside pgbench and nginx: npm run bench -- <name>',
    },
  },
  {
    title: 'Run the service',
    scripts: {
      config: 'print every setting and its source: npm run config -- check',
      migrate: 'bring the database schema up to date, then exit',
      start: 'serve the API',
      work: 'run background jobs, e-mail and sweeps',
      op: 'commands for operators: npm run op -- --help',
    },
  },
  {
    title: 'Maintain the repository',
    scripts: {
      'web:build': 'build the pages of the cabinet and of the console',
      'routes-table': 'write docs/cabinet-routes.md from what a real cabinet answers',
      'dump-schema': 'write migrations/schema.sql and migrations/definitions.txt',
      'roles-table': 'write docs/database-roles.md and migrations/grants.txt by trying',
    },
  },
]

/** The list as it is printed. */
export function helpText(): string {
  const names = groups.flatMap(({ scripts }) => Object.keys(scripts))
  const width = Math.max(...names.map((name) => name.length))
  const parts = groups.map(({ title, scripts }) =>
    [
      title,
      ...Object.entries(scripts).map(([name, line]) => `  ${name.padEnd(width)}  ${line}`),
    ].join('\n'),
  )
  return ['npm run <command> [-- arguments]', ...parts].join('\n\n')
}
