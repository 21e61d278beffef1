/**
 * The functions of a query, in lower case. A list of what is allowed, because the engine has 1,800 and gets more: some of
 * them read files, tables, dictionaries and settings, sleep, or ask other hosts.
 */
const plainFunctions = new Set(
  `
  plus minus multiply divide intdiv intdivorzero modulo positivemodulo negate abs mod power pow exp exp2 exp10 log log2 log10
  ln sqrt cbrt sign round floor ceil ceiling trunc truncate roundbankers rounddown least greatest gcd lcm isnan isfinite isinfinite
  pi e sin cos tan asin acos atan atan2 degrees radians factorial widthbucket
  equals notequals less greater lessorequals greaterorequals like notlike ilike notilike match multimatchany and or xor not
  if multiif casewithexpression coalesce ifnull nullif isnull isnotnull assumenotnull tonullable iszeroornull transform
  in notin exists tuple array lambda tupleelement arrayelement cast accuratecast accuratecastornull accuratecastordefault
  tostring tofloat32 tofloat64 toint8 toint16 toint32 toint64 touint8 touint16 touint32 touint64 toint64ornull toint64orzero
  touint64ornull touint64orzero tofloat64ornull tofloat64orzero todecimal32 todecimal64 todecimal128 tobool totypename tofixedstring
  todate todate32 todatetime todatetime64 todateornull todatetimeornull todatetime64ornull parsedatetime parsedatetimebesteffort
  parsedatetimebesteffortornull parsedatetime64besteffort makedate makedatetime now now64 today yesterday toyear toquarter tomonth
  todayofyear todayofmonth todayofweek tohour tominute tosecond tomillisecond toweek toyearweek toisoweek toisoyear toyyyymm toyyyymmdd
  tostartofsecond tostartofminute tostartoffiveminutes tostartoftenminutes tostartoffifteenminutes tostartofhour tostartofday
  tostartofweek tostartofmonth tostartofquarter tostartofyear tostartofinterval tomonday tolastdayofmonth tolastdayofweek
  tointervalnanosecond tointervalmicrosecond tointervalmillisecond tointervalsecond tointervalminute tointervalhour tointervalday
  tointervalweek tointervalmonth tointervalquarter tointervalyear datediff date_diff datetrunc date_trunc dateadd datesub
  date_add date_sub age addseconds addminutes addhours adddays addweeks addmonths addyears subtractseconds subtractminutes
  subtracthours subtractdays subtractweeks subtractmonths subtractyears totimezone tounixtimestamp tounixtimestamp64milli
  tounixtimestamp64micro fromunixtimestamp fromunixtimestamp64milli formatdatetime datename monthname year quarter month day
  dayofweek dayofmonth dayofyear hour minute second timeslot
  length lengthutf8 char_length empty notempty lower upper lowerutf8 upperutf8 lcase ucase concat concatwithseparator concat_ws
  substring substr mid substringutf8 left right leftpad rightpad lpad rpad trim ltrim rtrim trimboth trimleft trimright reverse
  reverseutf8 repeat replace replaceone replaceall replaceregexpone replaceregexpall position positioncaseinsensitive positionutf8
  positioncaseinsensitiveutf8 locate instr startswith endswith startswithutf8 endswithutf8 extract extractall extractallgroups
  extractgroups regexpextract countsubstrings countmatches splitbychar splitbystring splitbyregexp splitbywhitespace
  splitbynonalpha arraystringconcat format hastoken hasalltokens hasanytokens ngramdistance editdistance levenshteindistance
  base64encode base64decode trybase64decode hex unhex bin ascii char initcap isvalidutf8 tovalidutf8 domain path protocol querystring
  jsonhas jsonlength jsontype jsonextract jsonextractstring jsonextractint jsonextractuint jsonextractfloat jsonextractbool
  jsonextractraw jsonextractarrayraw jsonextractkeys jsonextractkeysandvalues jsonextractkeysandvaluesraw json_value json_query
  json_exists isvalidjson tojsonstring simplejsonextractstring simplejsonextractint simplejsonhas
  has hasall hasany hassubstr indexof countequal arraymap arrayfilter arrayexists arrayall arraycount arraysum arrayavg arraymin
  arraymax arrayproduct arraysort arrayreversesort arrayreverse arraydistinct arrayuniq arrayjoin arrayconcat arrayslice
  arraypushback arraypushfront arraypopback arraypopfront arrayfirst arraylast arrayfirstindex arraylastindex arrayzip arrayflatten
  arraycompact arrayenumerate arrayenumerateuniq arraycumsum arraydifference arrayreduce arrayfold arrayintersect arraywithconstant
  arrayresize arrayrotateleft emptyarraystring range emptyarrayfloat64
  map mapkeys mapvalues mapcontains mapcontainskey mapfromarrays mapfilter mapapply mapadd mapsubtract tuplehammingdistance
  untuple cityhash64 siphash64 xxhash64 md5 sha1 sha256 halfmd5 bitand bitor bitxor bitnot bitcount bitshiftleft bitshiftright bittest
  rand rand32 rand64 generateuuidv4 touuid formatreadablesize formatreadablequantity formatreadabletimedelta bar materialize identity
  row_number rank dense_rank denserank lag lead laginframe leadinframe first_value last_value nth_value ntile percent_rank cume_dist
  `
    .trim()
    .split(/\s+/),
)

const aggregates = new Set(
  `
  count sum avg min max any anylast anyheavy any_value argmin argmax min_by max_by median quantile quantiles quantileexact quantilesexact
  quantiletdigest quantilestdigest quantiletiming quantilestiming quantileexactweighted medianexact mediantdigest stddevpop stddevsamp
  varpop varsamp stddev_pop stddev_samp var_pop var_samp corr covarpop covarsamp skewpop skewsamp kurtpop kurtsamp entropy
  uniq uniqexact uniqcombined uniqhll12 grouparray groupuniqarray grouparraysorted grouparraysample grouparraymovingavg
  grouparraymovingsum groupconcat group_concat string_agg array_agg groupbitand groupbitor groupbitxor topk topkweighted
  approx_top_k summap minmap maxmap sumcount sumkahan avgweighted deltasum histogram retention windowfunnel sequencematch
  sequencecount simplelinearregression mannwhitneyutest studentttest welchttest rankcorr first_value last_value intervallengthsum
  maxintersections exponentialmovingaverage sparkbar singlevalueornull
  `
    .trim()
    .split(/\s+/),
)

/** `countIf`, `sumOrNull`, `uniqExactIf`. */
const suffixes = ['ornull', 'ordefault', 'distinct', 'foreach', 'array', 'map', 'if']

export function isAllowedFunction(name: string): boolean {
  const lower = name.toLowerCase()
  return plainFunctions.has(lower) || isAggregate(lower)
}

function isAggregate(name: string): boolean {
  if (aggregates.has(name)) return true
  const suffix = suffixes.find((end) => name.endsWith(end))
  return suffix !== undefined && isAggregate(name.slice(0, -suffix.length))
}
