// Several upstreams from a file: names, addresses, models, weights. Credentials stand elsewhere:
// the file names environment variables or files, so that it can be kept with the rest of a
// deployment.
import { z } from 'zod'
import { complaintsOf, readYaml } from '../platform/yaml.ts'

const positive = z.coerce.number().int().min(0)

const schema = z.strictObject({
  upstreams: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'expected a-z, 0-9 and -'),
        url: z.string().regex(/^https?:\/\/[^\s/]+(?:\/[^\s/]+)*$/, 'expected http(s)://…'),
        /** `env:NAME` or `file:/path`. */
        keys: z
          .array(z.string().regex(/^(?:env|file):.+$/, 'expected env:NAME or file:/path'))
          .min(1),
        models: z.array(z.string()).default([]),
        priority: positive.default(1),
        weight: positive.default(1),
        temperatureMax: z.coerce.number().min(1).max(2).default(1),
      }),
    )
    .min(1),
})

export type ListedUpstream = z.output<typeof schema>['upstreams'][number]

/** Reads the file's text; every complaint at once, with its line. */
export function readList(
  text: string,
): { readonly upstreams: readonly ListedUpstream[] } | { readonly complaints: readonly string[] } {
  const yaml = readYaml(text)
  if (yaml.complaints.length > 0) {
    return { complaints: yaml.complaints.map(({ line, sentence }) => `line ${line}: ${sentence}`) }
  }
  const checked = schema.safeParse(yaml.value)
  if (!checked.success) {
    return {
      complaints: complaintsOf(checked.error, schema).map(
        ({ path, sentence }) => `line ${yaml.lineAt(path)}: ${path.join('.')} ${sentence}`,
      ),
    }
  }
  const { upstreams } = checked.data
  const names = upstreams.map((one) => one.name)
  const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i))
  if (twice.size === 0) return { upstreams }
  return { complaints: [...twice].map((name) => `two upstreams are named ${name}`) }
}
