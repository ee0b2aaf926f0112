// The kinds of settings: a number within limits, a flag, a text, a choice, an address, a secret.
// Each registers how it is read and what production says about its default; settings.ts has all
// settings.
import { z } from 'zod'
import { Masked } from './masked.ts'
import { secretVersionsProblem } from './secret-versions.ts'

export type Traits = {
  /** How the text of an environment variable is read. */
  readonly kind: 'whole' | 'flag' | 'text'
  readonly fallback: string | number | boolean
  readonly isSecret?: boolean
  /** The fallback is for development only: production refuses it, also when it was set. */
  readonly isDevelopmentOnly?: boolean
  /** The message of production about the fallback, and the flag of `allow` that permits it. */
  readonly refusal?: { readonly sentence: string; readonly flag: string }
  /** Production refuses a shorter secret. */
  readonly bytesMin?: number
  /** A secret that may have a successor; secret-versions.ts reads its text. */
  readonly hasVersions?: boolean
  /** Short environment names that hosting platforms set; the derived name takes precedence. */
  readonly aliases?: readonly string[]
}

export const traits = z.registry<Traits>()
export const DEVELOPMENT_ONLY = { isDevelopmentOnly: true }
const OWN_SECRET = { hasVersions: true, ...DEVELOPMENT_ONLY }

export function whole(fallback: number, min: number, max: number, more: Partial<Traits> = {}) {
  return z
    .int()
    .min(min)
    .max(max)
    .default(fallback)
    .register(traits, { kind: 'whole', fallback, ...more })
}

export function flag(fallback: boolean) {
  return z.boolean().default(fallback).register(traits, { kind: 'flag', fallback })
}

export function text(
  fallback: string,
  more: Partial<Traits> = {},
  shape: z.ZodType<string> = z.string(),
) {
  return shape
    .pipe(z.string().min(1))
    .default(fallback)
    .register(traits, { kind: 'text', fallback, ...more })
}

/**
 * `none` unless set; production refuses `none` while the flag of `allow` is false. An empty text,
 * one of only spaces and bars, and `None` count as `none`, because they would show nothing either.
 */
export function none(sentence: string, flag: string) {
  const isNone = (value: string) => /^(?:none)?$/i.test(value.replaceAll(/[\s|]/g, ''))
  return text(
    'none',
    { ...DEVELOPMENT_ONLY, refusal: { sentence, flag } },
    z.string().transform((value) => (isNone(value) ? 'none' : value)),
  )
}

export function choice<const T extends string>(names: readonly [T, ...T[]], fallback: NoInfer<T>) {
  return z
    .enum(names)
    .default(fallback as T & z.util.NoUndefined<T>)
    .register(traits, { kind: 'text', fallback })
}

/** A public URL. No slash at the end, so that `${url}/v1` is always right. */
export function webAddress(fallback: string) {
  return text(
    fallback,
    DEVELOPMENT_ONLY,
    z
      .string()
      .regex(
        /^https?:\/\/[^\s/]+(?:\/[^\s/]+)*$/,
        'expected http(s)://… without a slash at the end',
      ),
  )
}

export function secret(fallback: string, bytesMin = 1, shape = z.string().min(1)) {
  return shape
    .default(fallback)
    .transform((value) => new Masked(value))
    .register(traits, { kind: 'text', fallback, isSecret: true, bytesMin, ...DEVELOPMENT_ONLY })
}

/** A secret of ours that may have a successor: `1:old,2:new`. */
export function ownSecret(fallback: string) {
  return z
    .string()
    .min(1)
    .superRefine((value, context) => {
      const message = secretVersionsProblem(value)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .default(fallback)
    .transform((value) => new Masked(value))
    .register(traits, { kind: 'text', fallback, isSecret: true, bytesMin: 32, ...OWN_SECRET })
}

/** A secret that production may leave at `none`. */
export function optionalSecret(shape: z.ZodString) {
  return shape
    .default('none')
    .transform((value) => new Masked(value))
    .register(traits, { kind: 'text', fallback: 'none', isSecret: true })
}
