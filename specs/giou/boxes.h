// Generalized IoU of two boxes, each given as left, top, right, bottom: shared by the specs of this folder.
// The plain form trusts its boxes; the clamped one takes negative widths and heights of the overlap and the hull as 0.

real generalized_iou(real left_p, real top_p, real right_p, real bottom_p, real left_t, real top_t, real right_t,
                     real bottom_t) {
  real area_p = (right_p - left_p) * (bottom_p - top_p);
  real area_t = (right_t - left_t) * (bottom_t - top_t);
  real overlap = (min(right_p, right_t) - max(left_p, left_t)) * (min(bottom_p, bottom_t) - max(top_p, top_t));
  real joined = area_p + area_t - overlap;
  real hull = (max(right_p, right_t) - min(left_p, left_t)) * (max(bottom_p, bottom_t) - min(top_p, top_t));
  return overlap / max(joined, 1e-5) - (hull - joined) / max(hull, 1e-5);
}

real clamped_generalized_iou(real left_p, real top_p, real right_p, real bottom_p, real left_t, real top_t, real right_t,
                             real bottom_t) {
  real area_p = (right_p - left_p) * (bottom_p - top_p);
  real area_t = (right_t - left_t) * (bottom_t - top_t);
  real overlap =
      max(min(right_p, right_t) - max(left_p, left_t), 0) * max(min(bottom_p, bottom_t) - max(top_p, top_t), 0);
  real joined = area_p + area_t - overlap;
  real hull =
      max(max(right_p, right_t) - min(left_p, left_t), 0) * max(max(bottom_p, bottom_t) - min(top_p, top_t), 0);
  return overlap / max(joined, 1e-5) - (hull - joined) / max(hull, 1e-5);
}
