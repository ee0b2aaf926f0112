// The SQL of tariffs: the price lists that holds and entries name.
import type { Executor } from '../platform/db/db.ts'
import type { Price } from '../units/price.ts'

/** One price list of a model in a version of the catalogue. */
export type Tariff = {
  readonly catalogueVersion: number
  readonly model: string
  /** Its name in the catalogue; empty for the list that applies by default. */
  readonly list?: string
  readonly price: Price
}

export type NamedPrice = { readonly name: string; readonly price: Price }

/** All price lists of a model in a version of the catalogue. */
export type ModelTariffs = {
  readonly catalogueVersion: number
  readonly model: string
  readonly lists: readonly NamedPrice[]
}

/**
 * The ids of the lists, inserted on first use. Many processes may insert the same ones at once: all
 * insert them in the order of the catalogue, so none waits for one that waits for it.
 */
export async function tariffsEnsure(
  db: Executor,
  { catalogueVersion, model, lists }: ModelTariffs,
): Promise<{ list: string; id: number; isSame: boolean }[]> {
  const prices = lists.map(({ price }) => price)
  const values = [
    catalogueVersion,
    model,
    lists.map(({ name }) => name),
    prices.map(({ input }) => input),
    prices.map(({ coefficient }) => coefficient),
    prices.map(({ cacheRead }) => cacheRead),
    prices.map(({ cacheWrite5m }) => cacheWrite5m),
    prices.map(({ cacheWrite1h }) => cacheWrite1h),
  ]
  const given = `unnest($3::text[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[])
    with ordinality as o (list, input, coefficient, cache_read, cache_write_5m, cache_write_1h, n)`
  await db.query(
    `insert into tariffs (catalogue_version, model, list, input, coefficient, cache_read,
       cache_write_5m, cache_write_1h)
     select $1, $2, o.list, o.input, o.coefficient, o.cache_read, o.cache_write_5m,
       o.cache_write_1h
     from ${given}
     where not exists (select from tariffs t
       where t.catalogue_version = $1 and t.model = $2 and t.list = o.list)
     order by o.n
     on conflict do nothing`,
    values,
  )
  const { rows } = await db.query(
    `select t.list, t.id, (t.input, t.coefficient, t.cache_read, t.cache_write_5m,
       t.cache_write_1h) = (o.input, o.coefficient, o.cache_read, o.cache_write_5m,
       o.cache_write_1h) as "isSame"
     from ${given}
     join tariffs t on t.catalogue_version = $1 and t.model = $2 and t.list = o.list
     order by o.n`,
    values,
  )
  return rows as { list: string; id: number; isSame: boolean }[]
}
