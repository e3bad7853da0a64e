// Generalized IoU of two boxes, each given as left, top, right, bottom: shared by the specs of this folder, whose
// parameter `eps` keeps the quotients finite.
//
//   giou = overlap / max(joined, eps) - (hull - joined) / max(hull, eps)
//
// with overlap, joined and hull the areas of what both boxes cover, of what either covers, and of the smallest box
// around both. It is 1 for equal boxes and goes to -1 for boxes far apart. `clamped` takes negative widths and heights
// as 0; `unclamped` takes them as they come, so that two boxes which miss each other both ways overlap by a positive
// product.

real giou_of_areas(real area_p, real area_t, real overlap, real hull) {
  real joined = area_p + area_t - overlap;
  return overlap / max(joined, eps) - (hull - joined) / max(hull, eps);
}

real clamped(real left_p, real top_p, real right_p, real bottom_p, real left_t, real top_t, real right_t,
             real bottom_t) {
  real width_p = right_p - left_p, height_p = bottom_p - top_p;
  real width_t = right_t - left_t, height_t = bottom_t - top_t;
  real area_p = width_p * height_p;
  real area_t = width_t * height_t;
  real shared_width = min(right_p, right_t) - max(left_p, left_t);
  real shared_height = min(bottom_p, bottom_t) - max(top_p, top_t);
  real overlap = max(shared_width, 0) * max(shared_height, 0);
  real hull_width = max(right_p, right_t) - min(left_p, left_t);
  real hull_height = max(bottom_p, bottom_t) - min(top_p, top_t);
  real hull = max(hull_width, 0) * max(hull_height, 0);
  return giou_of_areas(area_p, area_t, overlap, hull);
}

real unclamped(real left_p, real top_p, real right_p, real bottom_p, real left_t, real top_t, real right_t,
               real bottom_t) {
  real width_p = right_p - left_p, height_p = bottom_p - top_p;
  real width_t = right_t - left_t, height_t = bottom_t - top_t;
  real area_p = width_p * height_p;
  real area_t = width_t * height_t;
  real shared_width = min(right_p, right_t) - max(left_p, left_t);
  real shared_height = min(bottom_p, bottom_t) - max(top_p, top_t);
  real overlap = shared_width * shared_height;
  real hull_width = max(right_p, right_t) - min(left_p, left_t);
  real hull_height = max(bottom_p, bottom_t) - min(top_p, top_t);
  real hull = hull_width * hull_height;
  return giou_of_areas(area_p, area_t, overlap, hull);
}
