// Reads the file that lists several upstreams: names, URLs, models, weights. It holds no
// credentials, only the names of environment variables or files, so that it can be kept in a
// repository.
import { z } from 'zod'
import { readYaml, schemaProblems } from '../platform/yaml.ts'
import { isReference } from './credential.ts'

const nonNegative = z.coerce.number().int().min(0)

const PLAIN_REFERENCE = /^(?:env|file):.+$/
const PLAIN_REFERENCE_EXPECTED = 'expected env:NAME or file:/path'

const schema = z.strictObject({
  upstreams: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'expected a-z, 0-9 and -'),
        url: z.string().regex(/^https?:\/\/[^\s/]+(?:\/[^\s/]+)*$/, 'expected http(s)://…'),
        /** References; see credential.ts. */
        keys: z
          .array(z.string().refine(isReference, 'expected env:NAME, file:/path or command:/path'))
          .min(1),
        proxy: z
          .string()
          .regex(/^(?:https?|socks5):\/\/[^\s/@]+$/, 'expected http(s):// or socks5://host:port')
          .optional(),
        /** user:password, as a reference like those of `keys`. */
        proxyLogin: z.string().regex(PLAIN_REFERENCE, PLAIN_REFERENCE_EXPECTED).optional(),
        /** Paths of PEM files. */
        ca: z.string().optional(),
        clientCertificate: z.string().optional(),
        clientKey: z.string().optional(),
        http2: z.boolean().optional(),
        connectionMaxAgeMs: z.number().int().min(1_000).optional(),
        models: z.array(z.string()).default([]),
        priority: nonNegative.default(1),
        weight: nonNegative.default(1),
        temperatureMax: z.coerce.number().min(1).max(2).default(1),
      }),
    )
    .min(1),
})

type FileUpstream = z.output<typeof schema>['upstreams'][number]

/** Reads the file's text; reports all its problems at once, each with its line. */
export function readUpstreamsFile(
  text: string,
): { readonly upstreams: readonly FileUpstream[] } | { readonly problems: readonly string[] } {
  const yaml = readYaml(text)
  if (yaml.problems.length > 0) {
    return { problems: yaml.problems.map(({ line, sentence }) => `line ${line}: ${sentence}`) }
  }
  const checked = schema.safeParse(yaml.value)
  if (!checked.success) {
    return {
      problems: schemaProblems(checked.error, schema).map(
        ({ path, sentence }) => `line ${yaml.lineAt(path)}: ${path.join('.')} ${sentence}`,
      ),
    }
  }
  const { upstreams } = checked.data
  const names = upstreams.map((one) => one.name)
  const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i))
  if (twice.size === 0) return { upstreams }
  return { problems: [...twice].map((name) => `two upstreams are named ${name}`) }
}
